import RenderProtocol

/// What a shell script has to say that plays a render child, for the line that it has read into `line`.
enum ScriptedReply {
    /// A reply to the request, with this content as JSON.
    static func reply(_ content: String) -> String {
        // The number follows the files; what else has a number lies deeper.
        #"n=${line#*\],\"number\":}; n=${n%%,*}; printf '{"content":%s,"number":%s}\n' '\#(content)' "$n""#
    }

    /// All outputs are there.
    static let rendered = reply(#"{"rendered":{}}"#)

    /// Work that needs no file.
    static let sheet = ContactSheetRequest(cells: [], across: 1, cellSide: 100)
}
