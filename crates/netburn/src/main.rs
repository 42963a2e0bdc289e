//! How a network feels when everybody uses it at once, why, and what would help.
fn main() {}
