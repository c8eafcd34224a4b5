/// A filter of dead jobs, as fields of a form and as a query.
package struct DeadSelection: View {
    let tenant: String?
    let code: String?
    /// The SHA-256 of the edit in hex.
    let edit: String?
    let batch: String?
    /// A time in the syntax of `DeadFilterText`.
    let since: String?
    /// A time in the syntax of `DeadFilterText`.
    let until: String?

    package init(
        tenant: String? = nil, code: String? = nil, edit: String? = nil, batch: String? = nil,
        since: String? = nil, until: String? = nil
    ) {
        self.tenant = tenant
        self.code = code
        self.edit = edit
        self.batch = batch
        self.since = since
        self.until = until
    }

    /// The conditions as values of a query.
    package var values: [(String, String?)] {
        [
            ("tenant", tenant), ("code", code), ("edit", edit), ("batch", batch), ("since", since),
            ("until", until),
        ]
    }

    /// Returns the URL of the list of these jobs.
    package func listed(after cursor: String? = nil) -> String {
        Links.query(Links.dead, values + [("list", "1"), ("after", cursor)])
    }

    /// The URL of the preview of their replay.
    package var preview: String { Links.query(Links.replayPreview, values) }

    /// The conditions as text: `code noSpace, tenant acme, until 2026-11-21T06:00:00Z`.
    package var text: String {
        let parts = values.compactMap { name, value in
            value.map { name + " " + (name == "edit" ? $0.prefix(12) + "…" : $0) }
        }
        return parts.isEmpty ? "all dead jobs" : parts.joined(separator: ", ")
    }
}
