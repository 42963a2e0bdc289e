#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| netburn_access_point::fuzz::check_dumps(bytes));
