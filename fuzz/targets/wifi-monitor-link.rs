#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| netburn_wifi_monitor::fuzz::check(bytes));
