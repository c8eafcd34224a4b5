import Edits

/// The page of dead jobs, grouped by cause, or of the jobs of one group.
package struct DeadPage: Page {
    package let frame: Frame
    package let title = "Dead"
    let total: String
    let isEmpty: Bool
    let groups: [DeadGroupRow]
    let moreGroups: String?
    let list: List?

    package static let section: Section? = .dead
    package static let template = "dead"

    package struct List: View {
        let text: String
        let jobs: [JobRow]
        let nextHref: String?
        let previewHref: String
        let selection: DeadSelection

        /// - Parameter next: the cursor after the last job; nil at the end.
        package init(_ selection: DeadSelection, jobs: [JobRow], next: String?) {
            self.selection = selection
            text = selection.text
            self.jobs = jobs
            nextHref = next.map { selection.listed(after: $0) }
            previewHref = selection.preview
        }
    }

    package init(
        _ frame: Frame, total: Int, groups: [DeadGroupRow], left: Int = 0, list: List? = nil
    ) {
        self.frame = frame
        self.total = grouped(total)
        isEmpty = total == 0
        self.groups = groups
        moreGroups = left > 0 ? grouped(left) : nil
        self.list = list
    }
}

/// The dead jobs of one code, edit and tenant.
package struct DeadGroupRow: View {
    let code: String
    let tenant: String
    /// The first 12 digits of the edit's digest.
    let edit: String?
    let editText: String?
    let count: String
    let first: Moment?
    let last: Moment?
    let advice: String?
    let listHref: String
    let previewHref: String

    package init(
        code: String, tenant: String, edit: String?, editText: String? = nil, count: Int,
        first: Moment?, last: Moment?, batch: String? = nil
    ) {
        let selection = DeadSelection(tenant: tenant, code: code, edit: edit, batch: batch)
        self.code = code
        self.tenant = tenant
        self.edit = edit.map { String($0.prefix(12)) }
        self.editText = editText
        self.count = grouped(count)
        self.first = first
        self.last = last
        advice = FailureCode(rawValue: code)?.advice
        listHref = selection.listed()
        previewHref = selection.preview
    }
}
