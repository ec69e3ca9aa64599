"""Loops that are compiled when gnomon is installed: text, n-grams, TER, ROUGE, pairs.

They return whole numbers, of which one formula elsewhere makes scores, so that no digit depends on
the compiler. Entry points check ids and offsets once per call; inner loops check nothing.
"""
