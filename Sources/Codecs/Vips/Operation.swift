import CCodecs
import CVips
import Glibc

/// One call of a libvips operation by its nickname: set arguments, run, read outputs.
///
/// This is the interface that libvips' manual recommends to bindings ("Writing bindings"): each argument is a GObject property,
/// converted by the property's own type, so that an unknown argument or a wrong enum nickname is an error that names it.
struct Operation: ~Copyable {
    private let pointer: UnsafeMutablePointer<VipsOperation>
    private let nickname: String
    private var arguments = ""
    private var built = false

    /// A value for an argument.
    enum Value {
        case int(Int)
        case double(Double)
        case bool(Bool)
        case string(String)
        case doubles([Double])
        case image(Image)
        case images([Image])
        case file(VipsFile)
    }

    /// Finds an operation.
    ///
    /// - Throws: an error if libvips has none of that name, or blocks it.
    init(_ nickname: String) throws(VipsError) {
        // The name is looked up first: libvips' message of an unknown one goes into the buffer that all threads share, where
        // another thread's message can stand after it.
        guard vips_type_find("VipsOperation", nickname) != 0 else {
            throw VipsError(operation: nickname, arguments: "", text: VipsError.noSuchOperation)
        }
        guard let pointer = vips_operation_new(nickname) else {
            throw VipsError.drainingBuffer(operation: nickname)
        }
        // libvips itself only checks when it builds the operation, after some loaders have opened the file already.
        guard minilab_is_blocked(pointer) == 0 else {
            g_object_unref(pointer)
            throw VipsError(operation: nickname, arguments: "", text: "the operation is blocked")
        }
        self.pointer = pointer
        self.nickname = nickname
    }

    deinit {
        if built { vips_object_unref_outputs(minilab_vips_object(pointer)) }
        g_object_unref(pointer)
    }

    /// Sets an input.
    ///
    /// - Throws: an error if there is no such argument, or the value does not fit its type.
    mutating func set(_ name: String, _ value: Value) throws(VipsError) {
        guard let spec = minilab_argument(pointer, name) else {
            throw VipsError(
                operation: nickname, arguments: name,
                text: "the operation has no argument \(name)")
        }
        let type = minilab_spec_type(spec)
        var holder = GValue()
        g_value_init(&holder, type)
        defer { g_value_unset(&holder) }
        try fill(&holder, type, name, value)
        g_object_set_property(minilab_object(pointer), name, &holder)
        switch value {
        case .image, .images, .file: break
        case .int(let number): note("\(name): \(number)")
        case .double(let number): note("\(name): \(number)")
        case .bool(let flag): note("\(name): \(flag)")
        case .string(let text): note("\(name): \(text)")
        case .doubles(let numbers): note("\(name): \(numbers)")
        }
    }

    private mutating func note(_ argument: String) {
        arguments += (arguments.isEmpty ? "" : ", ") + argument
    }

    private func fill(_ holder: inout GValue, _ type: GType, _ name: String, _ value: Value)
        throws(VipsError)
    {
        switch value {
        case .int(let number) where minilab_is_int(type) != 0:
            g_value_set_int(&holder, Int32(number))
        case .int(let number) where minilab_is_flags(type) != 0:
            g_value_set_flags(&holder, guint(number))
        case .int(let number) where minilab_is_double(type) != 0:
            g_value_set_double(&holder, Double(number))
        case .double(let number) where minilab_is_double(type) != 0:
            g_value_set_double(&holder, number)
        case .bool(let flag) where minilab_is_boolean(type) != 0:
            g_value_set_boolean(&holder, flag ? 1 : 0)
        case .string(let text) where minilab_is_string(type) != 0:
            g_value_set_string(&holder, text)
        case .string(let nick) where minilab_is_enum(type) != 0:
            let number = vips_enum_from_nick(nickname, type, nick)
            guard number >= 0 else {
                throw VipsError.drainingBuffer(operation: nickname, arguments: "\(name): \(nick)")
            }
            g_value_set_enum(&holder, number)
        case .doubles(let numbers) where minilab_is_doubles(type) != 0:
            vips_value_set_array_double(&holder, numbers, Int32(numbers.count))
        case .image(let image) where minilab_is_image(type) != 0:
            g_value_set_object(&holder, image.pointer)
        case .file(let file) where minilab_is_connection(type) != 0:
            g_value_set_object(&holder, file.pointer)
        case .images(let images) where minilab_is_images(type) != 0:
            vips_value_set_array_image(&holder, Int32(images.count))
            guard let slots = vips_value_get_array_image(&holder, nil) else {
                throw VipsError.drainingBuffer(operation: nickname, arguments: name)
            }
            for (index, image) in images.enumerated() {
                g_object_ref(image.pointer)
                slots[index] = image.pointer
            }
        default:
            throw VipsError(
                operation: nickname, arguments: "\(name): \(value)",
                text: "\(name) takes \(String(cString: g_type_name(type)))")
        }
    }

    mutating func run() throws(VipsError) {
        built = true
        guard vips_object_build(minilab_vips_object(pointer)) == 0 else {
            throw VipsError.drainingBuffer(operation: nickname, arguments: arguments)
        }
    }

    /// Returns an output image, after the operation ran.
    func image(_ name: String) throws(VipsError) -> Image {
        var holder = GValue()
        g_value_init(&holder, vips_image_get_type())
        defer { g_value_unset(&holder) }
        g_object_get_property(minilab_object(pointer), name, &holder)
        // dup returns a new reference, which Image adopts.
        guard let object = g_value_dup_object(&holder) else {
            throw VipsError(
                operation: nickname, arguments: arguments, text: "no output \(name)")
        }
        return Image(
            adopting: UnsafeMutableRawPointer(object).assumingMemoryBound(to: VipsImage.self))
    }

    /// Runs an operation with one output image, `out`.
    static func run(_ nickname: String, _ inputs: [(String, Value)]) throws(VipsError) -> Image {
        var operation = try Operation(nickname)
        for (name, value) in inputs { try operation.set(name, value) }
        try operation.run()
        return try operation.image("out")
    }

    /// Runs an operation without an output, such as a saver.
    static func perform(
        _ nickname: String, _ inputs: [(String, Value)], ifKnown: [(String, Value)] = []
    ) throws(VipsError) {
        var operation = try Operation(nickname)
        for (name, value) in inputs { try operation.set(name, value) }
        for (name, value) in ifKnown where minilab_argument(operation.pointer, name) != nil {
            try operation.set(name, value)
        }
        try operation.run()
    }
}

/// An open file for reading or writing by libvips. It keeps a duplicate of the descriptor.
///
/// `@unchecked Sendable` is safe because its reference count is atomic, and it is never modified.
final class VipsFile: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer

    private init(adopting pointer: UnsafeMutableRawPointer) { self.pointer = pointer }

    deinit { g_object_unref(pointer) }

    /// Creates a source that is read from the first byte on. The descriptor's offset does not change.
    static func source(_ descriptor: Int32) throws(VipsError) -> VipsFile {
        guard let pointer = minilab_source_new(descriptor) else {
            throw VipsError.drainingBuffer(operation: "source")
        }
        return VipsFile(adopting: pointer)
    }

    /// Creates a target that is written from the first byte on and replaces the contents.
    static func target(_ descriptor: Int32) throws(VipsError) -> VipsFile {
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0,
            let pointer = vips_target_new_to_descriptor(descriptor)
        else {
            throw VipsError.drainingBuffer(
                operation: "target", arguments: String(cString: strerror(errno)))
        }
        return VipsFile(adopting: UnsafeMutableRawPointer(pointer))
    }
}
