/* bcryptprimitives.dll for Wine before 9.0, which has none. The standard library of Rust uses its only function. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID data, ULONG length); /* RtlGenRandom */

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) {
    while (length > 0) {
        ULONG part = length > 0x10000000 ? 0x10000000 : (ULONG)length;
        if (!SystemFunction036(data, part)) return FALSE;
        data += part;
        length -= part;
    }
    return TRUE;
}
