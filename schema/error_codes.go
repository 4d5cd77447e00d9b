package schema

// The codes that contract version 2 knows. A code that can come with either exit
// status stands once.
const (
	// Usage errors (errors.md, section 4).
	CodeInvalidUsage                        Code = "invalid_usage"
	CodeUnknownHelpTopic                    Code = "unknown_help_topic"
	CodeProtocolOperationRequired           Code = "protocol_operation_required"
	CodeGitRepositoryRequired               Code = "git_repository_required"
	CodeRunIDRequired                       Code = "run_id_required"
	CodeInvalidRunID                        Code = "invalid_run_id"
	CodeActionIDRequired                    Code = "action_id_required"
	CodeGoalRequired                        Code = "goal_required"
	CodeGoalModeConflict                    Code = "goal_mode_conflict"
	CodeGoalFileRequired                    Code = "goal_file_required"
	CodeGoalUnavailable                     Code = "goal_unavailable"
	CodeInvalidGoal                         Code = "invalid_goal"
	CodeInvalidBudget                       Code = "invalid_budget"
	CodeSourceFileRequired                  Code = "source_file_required"
	CodeInvalidSource                       Code = "invalid_source"
	CodeOutcomeModeRequired                 Code = "outcome_mode_required"
	CodeOutcomeFileRequired                 Code = "outcome_file_required"
	CodeOutcomeUnavailable                  Code = "outcome_unavailable"
	CodeAnswerModeConflict                  Code = "answer_mode_conflict"
	CodeAnswerFileRequired                  Code = "answer_file_required"
	CodeAnswerUnavailable                   Code = "answer_unavailable"
	CodeInvalidAnswer                       Code = "invalid_answer"
	CodeAnswerTooLarge                      Code = "answer_too_large"
	CodeDestructiveConfirmationPairRequired Code = "destructive_confirmation_pair_required"
	CodeSourceChoiceRequiresCandidate       Code = "source_choice_requires_candidate"
	CodeInvalidSourceChoice                 Code = "invalid_source_choice"
	CodeSourceModeConflict                  Code = "source_mode_conflict"
	CodeInvalidSourceCandidate              Code = "invalid_source_candidate"
	CodeMaterialSectionRequired             Code = "material_section_required"
	CodeHostAdapterRequired                 Code = "host_adapter_required"
	CodeUnknownHostAdapter                  Code = "unknown_host_adapter"
	CodeInvalidAdapterSurface               Code = "invalid_adapter_surface"

	// Usage and runtime errors alike.
	CodeInvalidOutcome Code = "invalid_outcome"
	CodeActionTooLarge Code = "action_too_large"

	// Place, storage and Run (errors.md, 5.1).
	CodeGitRepositoryUnavailable            Code = "git_repository_unavailable"
	CodeRunstoreUnavailable                 Code = "runstore_unavailable"
	CodeWorkspaceIdentityMismatch           Code = "workspace_identity_mismatch"
	CodeRunNotFound                         Code = "run_not_found"
	CodeRunJournalInvalid                   Code = "run_journal_invalid"
	CodeRunBusy                             Code = "run_busy"
	CodeRuntimeError                        Code = "runtime_error"
	CodeGitObservationFailed                Code = "git_observation_failed"
	CodeJournalRecordTooLarge               Code = "journal_record_too_large"
	CodeMutationNotCommitted                Code = "mutation_not_committed"
	CodeMutationOutcomeAmbiguous            Code = "mutation_outcome_ambiguous"
	CodeMutationCommittedProjectionStale    Code = "mutation_committed_projection_stale"
	CodeMutationCommittedVerificationFailed Code = "mutation_committed_verification_failed"
	CodeMutationCommittedOutputFailed       Code = "mutation_committed_output_failed"

	// State of a Run (errors.md, 5.2).
	CodeContractVersionMismatch             Code = "contract_version_mismatch"
	CodeOutcomeConflict                     Code = "outcome_conflict"
	CodeRunNotActive                        Code = "run_not_active"
	CodeStaleAction                         Code = "stale_action"
	CodeInvalidDecisionSupersession         Code = "invalid_decision_supersession"
	CodeAnswerConflict                      Code = "answer_conflict"
	CodeAnswerNotExpected                   Code = "answer_not_expected"
	CodeAnswerNotAllowed                    Code = "answer_not_allowed"
	CodeAnswerRequired                      Code = "answer_required"
	CodeDestructiveConfirmationNotExpected  Code = "destructive_confirmation_not_expected"
	CodeDestructiveConfirmationFlagRequired Code = "destructive_confirmation_flag_required"
	CodeDestructiveScopeRequired            Code = "destructive_scope_required"
	CodeDestructiveScopeMismatch            Code = "destructive_scope_mismatch"
	CodeBudgetExhausted                     Code = "budget_exhausted"
	CodeInvalidAction                       Code = "invalid_action"
	CodeRunNotSkippable                     Code = "run_not_skippable"
	CodeRunAlreadyEnded                     Code = "run_already_ended"
	CodeRunNotResumable                     Code = "run_not_resumable"

	// Source (errors.md, 5.3).
	CodeSourceModeNotAllowed         Code = "source_mode_not_allowed"
	CodeSourceModeRequired           Code = "source_mode_required"
	CodeSourceCandidatePending       Code = "source_candidate_pending"
	CodeSourceChoiceRequired         Code = "source_choice_required"
	CodeStaleSourceCandidate         Code = "stale_source_candidate"
	CodeInvalidSourceCandidateChoice Code = "invalid_source_candidate_choice"
	CodeSourceChoiceConflict         Code = "source_choice_conflict"
	CodeSourceIssueMismatch          Code = "source_issue_mismatch"
	CodeSourceAliasLimit             Code = "source_alias_limit"
	CodeSourceHistoryInPlaceEdit     Code = "source_history_in_place_edit"
	CodeSourceHistoryFork            Code = "source_history_fork"

	// Material (errors.md, 5.4).
	CodeMaterialSectionInvalid  Code = "material_section_invalid"
	CodeMaterialActionNotFound  Code = "material_action_not_found"
	CodeMaterialActionStale     Code = "material_action_stale"
	CodeMaterialUnavailable     Code = "material_unavailable"
	CodeMaterialSectionNotFound Code = "material_section_not_found"
	CodeMaterialCorrupt         Code = "material_corrupt"

	// Hosts (errors.md, 5.5).
	CodeInstallFailed   Code = "install_failed"
	CodeUninstallFailed Code = "uninstall_failed"
	CodeListFailed      Code = "list_failed"
	CodeDoctorFailed    Code = "doctor_failed"

	// The way to the daemon (errors.md, section 6).
	CodeDaemonUnavailable  Code = "daemon_unavailable"
	CodeDaemonUnresponsive Code = "daemon_unresponsive"

	// Reserved: not to be met with sound storage (errors.md, section 6).
	CodeSourceProviderMismatch    Code = "source_provider_mismatch"
	CodeSourceIntegrityMismatch   Code = "source_integrity_mismatch"
	CodeDestructiveRequestMissing Code = "destructive_request_missing"
	CodeInvalidDestructiveRequest Code = "invalid_destructive_request"
	CodeDestructiveScopeChanged   Code = "destructive_scope_changed"
	CodeDestructiveGrantConflict  Code = "destructive_grant_conflict"
	CodeInvalidDestructiveGrant   Code = "invalid_destructive_grant"

	// A listed folder that could not be read as a Run (storage.md, section 10); no error.
	CodeRunUnavailable Code = "run_unavailable"
)
