//! Entry points for fuzzers. They accept any bytes and panic if an invariant is violated.

pub mod run;
pub mod spool;

#[cfg(test)]
mod tests {
    use netburn_protocol::fuzz::replay;
    use std::path::{Path, PathBuf};

    fn corpus(target: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target)
    }

    #[test]
    fn runs() {
        replay(&corpus("run"), super::run::check, 3000);
    }

    #[test]
    fn spools() {
        replay(&corpus("spool"), super::spool::check, 4000);
    }
}
