//! Writes the corpus of the fuzz target: endpoints with random operations, from fixed seeds.
//!
//! `cargo run -p netburn-tcp --example write-tcp-corpus`

use netburn_units::Seed;
use std::fs;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/endpoint");
    fs::create_dir_all(&folder)?;
    for index in 0..14u64 {
        let mut chance = Seed(4).stream("corpus", index);
        let length = [60, 200, 600, 1_500][usize::try_from(index).unwrap_or(0) % 4];
        let mut bytes: Vec<u8> = (0..length).map(|_| (chance.next_u64() >> 32) as u8).collect();
        if index % 2 == 0 {
            // The last laws require inputs without forged segments and aborts: no operation 14.
            for byte in bytes.iter_mut().skip(22) {
                if *byte % 16 == 14 {
                    *byte -= 14;
                }
            }
        }
        fs::write(folder.join(format!("drawn-{index:02}")), bytes)?;
    }
    Ok(())
}
