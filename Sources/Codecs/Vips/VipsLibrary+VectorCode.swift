extension VipsLibrary {
    /// Maps the memory into which liborc compiles. Without it, libvips shrinks pictures a quarter slower.
    ///
    /// liborc maps it, executable, for its first program, and keeps it: 64 KB, enough for all programs in use at a time, since
    /// libvips frees them with their operation. A process may be denied executable memory after this. Nothing is computed and no
    /// thread is started.
    public static func reserveVectorCode() throws(VipsError) {
        let picture: Image = try Operation.run(
            "black", [("width", .int(32)), ("height", .int(32)), ("bands", .int(3))])
        _ =
            try Operation.run("reducev", [("in", .image(picture)), ("vshrink", .double(2))])
            as Image
    }
}
