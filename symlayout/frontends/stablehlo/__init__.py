"""StableHLO's operations, by the names of its specification: ``sl.op("stablehlo:dot_general")``.

Those of the dialect CHLO have it before their names.  Regions that are operations of two elements are named by these.

>>> import symlayout as sl
>>> sl.op("stablehlo:transpose")(sl.tensor("N, H, W"), permutation=[0, 2, 1]).shape
(N, W, H)
"""

from symlayout.frontends.stablehlo import elementwise, indexing, movement, windows

MODULES = (elementwise, indexing, movement, windows)
