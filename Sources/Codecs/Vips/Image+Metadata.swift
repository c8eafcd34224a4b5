import CVips

extension Image {
    /// Returns an integer field of the header, or nil.
    public func int(_ name: String) -> Int? {
        guard vips_image_get_typeof(pointer, name) != 0 else { return nil }
        var number: Int32 = 0
        guard vips_image_get_int(pointer, name, &number) == 0 else {
            vips_error_clear()  // A field of another type counts as missing.
            return nil
        }
        return Int(number)
    }

    /// Returns a text field of the header, or nil.
    public func string(_ name: String) -> String? {
        guard vips_image_get_typeof(pointer, name) != 0 else { return nil }
        var text: UnsafePointer<CChar>?
        guard vips_image_get_string(pointer, name, &text) == 0, let text else {
            vips_error_clear()  // As above.
            return nil
        }
        return String(cString: text)
    }

    /// Pixels per millimetre, horizontally and vertically.
    public var resolution: (x: Double, y: Double) {
        (vips_image_get_xres(pointer), vips_image_get_yres(pointer))
    }

    /// Returns a binary field of the header, such as `icc-profile-data` or `exif-data`, or nil.
    public func data(_ name: String) -> [UInt8]? {
        guard vips_image_get_typeof(pointer, name) != 0 else { return nil }
        var bytes: UnsafeRawPointer?
        var length = 0
        guard vips_image_get_blob(pointer, name, &bytes, &length) == 0, let bytes else {
            vips_error_clear()  // As above.
            return nil
        }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: length))
    }

    /// A change of the header.
    public enum MetadataChange: Sendable {
        /// Sets an integer field.
        case setInt(String, Int)
        /// Sets a text field.
        case setString(String, String)
        /// Sets a binary field.
        case setData(String, [UInt8])
        /// Removes a field, if it exists.
        case remove(String)
    }

    /// Returns the same pixels with another number of pixels per millimetre.
    public func changing(resolution: (x: Double, y: Double)) throws(VipsError) -> Image {
        try Operation.run(
            "copy",
            [
                ("in", .image(self)), ("xres", .double(resolution.x)),
                ("yres", .double(resolution.y)),
            ])
    }

    /// Returns the same pixels with another header. This image is unchanged.
    public func changing(_ changes: [MetadataChange]) throws(VipsError) -> Image {
        let copy = try Operation.run("copy", [("in", .image(self))])
        for change in changes {
            switch change {
            case .setInt(let name, let value):
                vips_image_set_int(copy.pointer, name, Int32(value))
            case .setString(let name, let value):
                vips_image_set_string(copy.pointer, name, value)
            case .setData(let name, let value):
                value.withUnsafeBytes {
                    vips_image_set_blob_copy(copy.pointer, name, $0.baseAddress, $0.count)
                }
            case .remove(let name):
                vips_image_remove(copy.pointer, name)
            }
        }
        return copy
    }

    /// The names of all fields.
    public var fieldNames: [String] {
        guard let names = vips_image_get_fields(pointer) else { return [] }
        defer { g_strfreev(names) }
        var result: [String] = []
        var index = 0
        while let name = names[index] {
            result.append(String(cString: name))
            index += 1
        }
        return result
    }
}
