//! Atomic values: types, casts, comparison, arithmetic.
