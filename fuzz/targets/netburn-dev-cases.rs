#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| netburn_dev::fuzz::check(bytes));
