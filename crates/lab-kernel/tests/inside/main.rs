//! Tests that need their own namespaces. Each case runs in a single-threaded process that has isolated itself. It runs
//! once in a user namespace, and once as root if the tests run as root.

#[cfg(target_os = "linux")]
mod devices;
#[cfg(target_os = "linux")]
mod harness;
#[cfg(target_os = "linux")]
mod namespaces;

#[cfg(target_os = "linux")]
fn main() {
    harness::main(&[
        ("a_world_of_its_own", namespaces::of_its_own),
        ("mounts_are_seen_inside_only", namespaces::mounts),
        ("children_and_how_they_ended", namespaces::children),
        ("what_programs_may_do", namespaces::programs),
        ("descriptors_outlive_who_made_them", namespaces::descriptors),
        ("tun_devices", devices::tun),
        ("routes_and_addresses", devices::routes),
        ("token_buckets", devices::buckets),
        ("ethernet_pairs", devices::pairs),
        ("offloads", devices::offloads),
        ("drivers", devices::drivers),
    ]);
}

#[cfg(not(target_os = "linux"))]
fn main() {}
