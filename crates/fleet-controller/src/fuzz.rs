//! Entry point for a fuzzer. It accepts any bytes and panics if an invariant is violated.

pub mod hub;

#[cfg(test)]
mod tests {
    use netburn_protocol::fuzz::replay;
    use std::path::Path;

    #[test]
    fn hubs() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/hub");
        replay(&corpus, super::hub::check, 3000);
    }
}
