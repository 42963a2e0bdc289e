//! Simulated TCP endpoints.
