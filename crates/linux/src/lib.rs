//! The kernel's side doors: timers, socket options, TCP_INFO, sendfile, processor time.
