#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| netburn_traffic::server::fuzz::check_request(bytes));
