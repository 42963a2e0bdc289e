#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| netburn_interop::fuzz::check_bundle(bytes));
