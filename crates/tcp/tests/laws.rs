//! What holds whatever the path does.

mod common;

use common::{Link, Path, at_ms};
use netburn_tcp::EndpointConfig;

fn closed(path: &Path) -> bool {
    path.seen.iter().all(|seen| seen.closed.is_some())
}

#[test]
fn a_transfer_over_a_clean_path() {
    let mut path = Path::symmetric(&EndpointConfig::default(), &Link::default(), 1);
    path.to_write[0] = 1_000_000;
    path.finish = [true; 2];
    path.run_until(at_ms(60_000));
    assert_eq!(path.seen[1].received, 1_000_000);
    assert_eq!(path.seen[0].acknowledged, 1_000_000);
    assert!(closed(&path), "{:?}", path.seen);
    assert_eq!(path.ends[0].info().retransmits, 0);
}
