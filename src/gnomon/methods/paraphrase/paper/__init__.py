"""What reproduces tables of Bawden et al. (2020): gains over half splits, structures by depth."""
