//! Writes the fuzz corpus: pseudo-random inputs of increasing length. Existing files are kept. Run
//! it when the decoder of the fuzz targets changes, because that changes the meaning of an old
//! corpus.

use netburn_units::Seed;
use std::path::Path;

fn main() -> std::io::Result<()> {
    for (target, longest) in [("air", 600), ("rating", 40)] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
        std::fs::create_dir_all(&folder)?;
        for round in 0..12 {
            let mut stream = Seed(2).stream(target, round);
            let length = longest * (round + 1) / 12;
            let bytes: Vec<u8> = (0..length).map(|_| stream.below(256) as u8).collect();
            let file = folder.join(format!("drawn-{round:02}"));
            if !file.exists() {
                std::fs::write(file, bytes)?;
            }
        }
    }
    Ok(())
}
