"""Judging: which systems differ under some metrics, and whether metrics agree with people."""
