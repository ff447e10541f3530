"""The helpers of tests have left the package; this name says where they are, for one release."""

raise ImportError(
    "penstock.testing is now the package penstock_testing, which lies beside penstock in a "
    "checkout and is not in the wheel"
)
