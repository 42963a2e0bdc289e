//! Many simulated runs with a question.
