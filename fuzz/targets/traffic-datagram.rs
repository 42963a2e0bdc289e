#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| netburn_traffic::datagram::fuzz::check_datagram(bytes));
