#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| netburn_record::fuzz::check_spool(bytes));
