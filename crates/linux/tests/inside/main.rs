//! What needs namespaces of its own: each case runs in a process of one thread that has isolated itself, once as root where that is
//! who runs this, and once through a user namespace.

#[cfg(target_os = "linux")]
mod devices;
#[cfg(target_os = "linux")]
mod harness;
#[cfg(target_os = "linux")]
mod worlds;

#[cfg(target_os = "linux")]
fn main() {
    harness::main(&[
        ("a_world_of_its_own", worlds::of_its_own),
        ("mounts_are_seen_inside_only", worlds::mounts),
        ("children_and_how_they_ended", worlds::children),
        ("what_programs_may_do", worlds::programs),
        ("descriptors_outlive_who_made_them", worlds::descriptors),
        ("tun_devices", devices::tun),
        ("routes_and_addresses", devices::routes),
        ("token_buckets", devices::buckets),
        ("ethernet_pairs", devices::pairs),
        ("offloads", devices::offloads),
    ]);
}

#[cfg(not(target_os = "linux"))]
fn main() {}
