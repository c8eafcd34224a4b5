/// The system's files that libraries read while they run.
enum SystemFiles {
    static let readable = [
        // Libraries and libvips' modules; fonts for the labels of contact sheets.
        "/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/local/lib", "/etc/ld.so.cache",
        "/usr/share", "/usr/local/share/fonts", "/etc/fonts", "/var/cache/fontconfig",
        // The number of processors, and the memory policy.
        "/sys/devices/system", "/proc/cpuinfo", "/proc/meminfo", "/proc/sys/vm/overcommit_memory",
        "/dev/urandom",
    ]
    static let writable = ["/dev/null"]
}
