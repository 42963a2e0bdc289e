//! Writes the fuzz corpus of congestion control: pseudo-random inputs of increasing length.
//! Existing files are kept. Run it when the decoder of the fuzz targets changes, because that
//! changes the meaning of an old corpus.

use netburn_units::Seed;
use std::path::Path;

fn main() -> std::io::Result<()> {
    for target in ["congestion", "rate"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
        std::fs::create_dir_all(&folder)?;
        for round in 0..12_u64 {
            let mut stream = Seed(4).stream(target, round);
            // Each control in turn.
            let mut bytes = vec![round as u8, 10];
            bytes.extend((0..50 * (round + 1)).map(|_| stream.below(256) as u8));
            let file = folder.join(format!("drawn-{round:02}"));
            if !file.exists() {
                std::fs::write(file, bytes)?;
            }
        }
    }
    Ok(())
}
