"""What reproduces figures and appendices of the paper (Leiter et al., 2022): docs/reproduce.md."""
