//! Built-in functions of atomic values.
