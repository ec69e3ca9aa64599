"""The perturbations that come with gnomon."""
