//! Percentiles and when they are supported, intervals, fairness, seeded bootstrap.
