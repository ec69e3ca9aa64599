"""Reproduction of tables and figures of the paper (Zhan et al., 2021): papers/difficulty."""
