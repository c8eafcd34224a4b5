import CVips

/// The process's heap, which libvips and all decoders share: glibc's malloc.
public enum Heap {
    /// Gives freed memory back to the system, so that a process that has done its work is as small as
    /// before.
    ///
    /// Small pieces that are still in use keep what lies below them in an arena; `malloc_trim` gives back
    /// whole free pages between them too (glibc 2.8 and newer).
    public static func giveBack() { malloc_trim(0) }
}
