import Mustache

/// The templates, parsed once.
enum Templates {
    /// - Parameter name: the name of a file in `Templates/`.
    static func render(_ name: String, _ view: some View) -> String {
        guard let text = library.render(view, withTemplate: name) else {
            preconditionFailure("There is no template \(name).mustache.")
        }
        return text
    }

    private static let library: MustacheLibrary = {
        MustacheContentTypes.register(Escaping(), named: Escaping.name)
        var library = MustacheLibrary()
        for (name, bytes) in texts {
            var text = String(decoding: bytes, as: UTF8.self)
            // The final line end of a file would become a space between a partial and the text after it.
            if text.hasSuffix("\n") { text.removeLast() }
            do {
                try library.register(
                    "{{% CONTENT_TYPE:\(Escaping.name)}}" + text, named: name)
            } catch {
                preconditionFailure("The template \(name).mustache is wrong: \(error)")
            }
        }
        return library
    }()
}
