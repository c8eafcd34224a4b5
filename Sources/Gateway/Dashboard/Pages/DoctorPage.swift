package import JobQueue

/// The page of the doctor: whether the data in Redis are consistent.
package struct DoctorPage: Page {
    package let frame: Frame
    package let title = "Doctor"
    let state: StateMark
    let sentence: String
    let open: [FindingRow]
    let mended: [FindingRow]
    let warnings: [String]
    let hasOpen: Bool
    let hasMended: Bool
    let hasWarnings: Bool
    let action: String

    package static let section: Section? = .doctor
    package static let template = "doctor"
    /// The most findings of each kind that the page shows.
    package static let findingsMax = 200

    /// - Parameter diagnosis: the result of the last run; nil before the first run.
    package init(_ frame: Frame, _ diagnosis: Diagnosis?) {
        self.frame = frame
        let open = diagnosis?.open ?? []
        self.open = open.prefix(Self.findingsMax).map(FindingRow.init)
        mended = diagnosis?.mended.prefix(Self.findingsMax).map(FindingRow.init) ?? []
        warnings = Array(diagnosis?.warnings.prefix(Self.findingsMax) ?? [])
        hasOpen = !open.isEmpty
        hasMended = !mended.isEmpty
        hasWarnings = !warnings.isEmpty
        action = Links.doctor
        guard let diagnosis else {
            state = StateMark("not checked", "?", "calm")
            sentence = "The queue has not been checked yet."
            return
        }
        let extent =
            "checked \(grouped(diagnosis.places)) places of jobs, \(grouped(diagnosis.flows)) flows and "
            + "\(grouped(diagnosis.batches)) batches."
        if diagnosis.isHealthy {
            state = StateMark("healthy", "✓", "good")
            sentence = "Everything is as it must be: " + extent
        } else {
            state = StateMark("findings", "✕", "trouble")
            sentence = "\(grouped(open.count)) things are not as they must be; " + extent
        }
    }
}

/// One finding of the doctor.
package struct FindingRow: View {
    let kind: String
    let sentence: String
    let advice: String?

    package init(_ finding: Finding) {
        kind = finding.kind.rawValue
        sentence = finding.sentence
        advice = finding.advice
    }
}
