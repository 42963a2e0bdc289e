#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| netburn_run_control::fuzz::spool::check(bytes));
