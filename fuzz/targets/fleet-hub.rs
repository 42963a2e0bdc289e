#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| netburn_fleet::fuzz::hub::check(bytes));
