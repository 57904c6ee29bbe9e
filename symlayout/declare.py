"""What a declaration of an operation is made of, by its public path (see `symlayout.tensors.declaration`)."""

from symlayout.tensors.declaration import (
    Case,
    Coordinate,
    Coords,
    Declared,
    Fill,
    Operand,
    Windows,
    as_list,
    index_map,
    is_list,
)

__all__ = ["Case", "Coordinate", "Coords", "Declared", "Fill", "Operand", "Windows", "as_list", "index_map", "is_list"]
