"""What Karidi et al. show of MuLER: correlations over systems, contrasts, manual analysis."""
