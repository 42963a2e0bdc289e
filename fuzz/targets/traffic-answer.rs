#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| netburn_traffic::client::fuzz::check_answer(bytes));
