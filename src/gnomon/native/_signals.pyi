__all__ = ["stopped"]

stopped: set[int]
