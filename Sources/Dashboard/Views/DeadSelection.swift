/// Which dead jobs are meant, as fields of a form and as a query.
package struct DeadSelection: View {
    let tenant: String?
    let code: String?
    /// SHA-256 of the edit, in hex.
    let edit: String?
    let batch: String?
    /// As `DeadFilterText` reads it.
    let since: String?
    /// As `DeadFilterText` reads it.
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

    /// Its conditions as values of a query.
    package var values: [(String, String?)] {
        [
            ("tenant", tenant), ("code", code), ("edit", edit), ("batch", batch), ("since", since),
            ("until", until),
        ]
    }

    /// The list of these jobs.
    package func listed(after cursor: String? = nil) -> String {
        Links.query(Links.dead, values + [("list", "1"), ("after", cursor)])
    }

    /// The preview of their replay.
    package var preview: String { Links.query(Links.replayPreview, values) }

    /// `code noSpace, tenant acme, until 2026-11-21T06:00:00Z`.
    package var words: String {
        let words = values.compactMap { name, value in
            value.map { name + " " + (name == "edit" ? $0.prefix(12) + "…" : $0) }
        }
        return words.isEmpty ? "all dead jobs" : words.joined(separator: ", ")
    }
}
