//! Writes the fuzz corpus of congestion control: inputs of rising length from a generator of their own. What is there stays.
//! To be run when the decoder of the fuzz targets changes: an old corpus then means something else.

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
