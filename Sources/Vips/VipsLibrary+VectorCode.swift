extension VipsLibrary {
    /// Has the memory mapped into which liborc compiles, without which libvips shrinks pictures a quarter slower.
    ///
    /// liborc maps it for its first program, executable, and keeps it: 64 KB, which hold all programs that are in
    /// use at a time, since libvips frees them with their operation. A process may be denied executable memory after
    /// this. Nothing is computed and no thread is started.
    public static func reserveVectorCode() throws(VipsError) {
        let picture: Image = try Operation.run(
            "black", [("width", .int(32)), ("height", .int(32)), ("bands", .int(3))])
        _ =
            try Operation.run("reducev", [("in", .image(picture)), ("vshrink", .double(2))])
            as Image
    }
}
