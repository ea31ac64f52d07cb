"""Each backend test case can fail: runs it on a backend with one mistake (broken.cpp), and without."""

import concurrent.futures
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

BUILD = Path(os.environ["HONE_BUILD_DIR"])
PROGRAM = BUILD / "tests/backend_conformance_test"
OVER = {
    "cpu": ("cpu x86-64", BUILD / "plugins/backends/cpu.so"),
    "cuda": ("cuda sm_90a", BUILD / "tests/gpu/backend_cuda_emulated.so"),
}
# Case: the mistakes that it finds, on which backend.
MISTAKES = {
    "BackendArtifact.ForAnotherArchitecture_IsRefused": ["cpu loads_anything"],
    "BackendArtifact.Truncated_IsRefused": ["cpu loads_anything"],
    "BackendArtifact.Garbage_IsRefused": ["cpu loads_anything"],
    "BackendBuffer.CopyWithinAndBetweenBuffers_MovesOnlyTheGivenBytes": ["cpu copies_nothing"],
    "BackendBuffer.EachBuffer_HasItsOwnAddress": ["cpu has_one_address"],
    "BackendBuffer.ExactBuffer_HasItsBytesAndCannotBeShared": ["cuda shares_exact_buffers"],
    "BackendBuffer.WrittenBytes_AreReadBack": ["cpu loses_the_last_byte"],
    "BackendBuffer.HostMemory_IsMapped": ["cpu maps_another_memory", "cuda maps_another_memory"],
    "BackendBuffer.TooLargeBuffer_IsRefused": ["cpu makes_any_buffer"],
    "BackendBuffer.StridedRows_AreReadIntoContiguousMemory": ["cpu reads_rows_without_gaps"],
    "BackendBuffer.OverlappingCopy_IsRefused": ["cpu copies_onto_itself"],
    "BackendBuffer.AccessBeyondTheEnd_IsRefused": ["cpu refuses_nothing"],
    "BackendBuffer.NewBuffer_ContainsZeros": ["cpu gives_dirty_memory"],
    "BackendBuffer.ZeroBytes_AreAccepted": ["cpu minds_no_bytes"],
    "BackendBuild.MissingCompiler_IsAFaultOfTheMachine": ["cpu errors_are_results"],
    "BackendBuild.TimeLimit_EndsTheBuild": ["cpu never_times_out"],
    "BackendBuild.StandardNumericHeaders_Exist": ["cpu has_no_headers"],
    "BackendBuild.CorrectSource_GivesAnArtifact": ["cpu makes_no_artifact"],
    "BackendBuild.DeviceCode_CannotReadTheMachinesFiles": ["cpu calls_host_code_its_own"],
    "BackendBuild.MissingEntry_IsRefused": ["cpu builds_any_entry"],
    "BackendBuild.InvalidRequest_IsRefused": ["cpu errors_are_results"],
    "BackendBuild.Mistake_IsReportedAtItsLine": ["cpu says_nothing"],
    "BackendBuild.ReportOnTheCode_HasNoTextOfAPragmaMessage": ["cpu remarks_are_diagnostics"],
    "BackendBuild.ReportOnTheCode_LeavesTheMachineCodeAsItIs": ["cpu reports_on_other_code"],
    "BackendBuild.Toolchain_IsDeterministic": ["cpu toolchain_wavers"],
    "BackendBuild.WarningWithTextOfAFailure_IsNotAFailure": ["cpu reads_failures_from_warnings"],
    "BackendFacts.Facts_BelongToTheRequestedDevice": ["cpu opens_another_device"],
    "BackendFacts.ReopenedDevice_HasTheSameFacts": ["cpu closes_for_all"],
    "BackendFacts.Facts_EqualTheProbes": ["cpu probes_nothing"],
    "BackendFacts.Describe_IsDeterministic": ["cpu describe_wavers"],
    "BackendFacts.NewBuffer_LowersFreeMemory": ["cuda forgets_memory"],
    "BackendFacts.Marks_AreInOrder": ["cuda runs_backwards"],
    "BackendFacts.Release_AcceptsNull": ["cpu minds_null"],
    "BackendFacts.OpenDevice_FactsStayTheSame": ["cpu facts_waver"],
    "BackendFacts.Facts_DescribeTheDevice": ["cpu another_architecture"],
    "BackendFault.FaultOfOneProcess_OtherProcessesKeepTheDevice": ["cpu spreads_faults"],
    "BackendFault.Trap_IsReported": ["cpu runs_nothing", "cuda forgives"],
    "BackendFault.IllegalAddress_IsReported": ["cpu runs_nothing", "cuda forgives"],
    "BackendLaunch.Launch_RunsInOrder": ["cpu launches_late"],
    "BackendLaunch.ArgumentsOfEachKind_ReachTheKernel": ["cpu narrows_numbers"],
    "BackendLaunch.MaximumArguments_ArePassed": ["cpu gives_fifteen_arguments"],
    "BackendLaunch.UnknownEntryOrInvalidArguments_AreRefused": ["cpu finds_any_entry"],
    "BackendLaunch.LaunchBeyondTheLimits_IsRefused": ["cuda starts_anything"],
    "BackendLaunch.TwoArtifacts_TheRightOneRuns": ["cpu knows_the_last_artifact"],
    "BackendLaunch.WrongNumberOfArguments_IsRefused": ["cpu counts_no_arguments"],
    "BackendLaunch.TemplateInstance_RunsOnBlocksOfThreads": ["cuda runs_nothing"],
    "BackendLaunch.Launch_UsesTheGivenBuffer": ["cpu works_over_the_first_buffer"],
    "BackendSharing.GuardPages_AreInaccessible": ["cpu guards_nothing"],
    "BackendSharing.ImportBeyondTheSize_IsRefused": ["cpu imports_too_much"],
    "BackendSharing.OtherDescriptor_IsRefused": ["cpu imports_anything"],
    "BackendSharing.Resize_IsRefused": ["cpu lets_resize"],
    "BackendSharing.ImportedDescriptor_IsTheSameMemory": ["cpu imports_a_copy"],
    "BackendSharing.SharedMemory_OutlivesItsFirstBuffer": ["cpu clears_what_it_releases"],
    "BackendSharing.ExportedBuffer_IsSharedWithAnotherProcess": ["cpu imports_a_copy"],
    "TaskResults.DeviceResults_AgreeWithTheProcessors": ["cpu loses_an_element", "cuda loses_an_element"],
}


def run(over: str, mistake: str, pattern: str, *more: str) -> subprocess.CompletedProcess[str]:
    words, library = OVER[over]
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "HONE_TESTED_BACKEND": f"{words} {BUILD / 'tests/plugins/broken_backend.so'}",
            "HONE_BROKEN_OVER": str(library),
            "HONE_BROKEN": mistake,
            "HONE_BROKEN_MARK": f"{folder}/fault",
        }
        command = [str(PROGRAM), f"--gtest_filter={pattern}", *more]
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=200)


def pattern_of(case: str, over: str) -> str:
    # Of the tasks one, which has an argument to lose an element by.
    return f"Tasks/{case}/sum" if case.startswith("Task") else f"Backends/{case}/{over}"


class Broken(unittest.TestCase):
    def test_each_case_has_a_mistake(self) -> None:
        listed = run("cpu", "", "*", "--gtest_list_tests").stdout
        cases, suite = set(), ""
        for line in listed.splitlines():
            if not line.startswith(" "):
                suite = line.rstrip(".").split("/")[-1]
            else:
                cases.add(f"{suite}.{line.split('/')[0].strip()}")
        self.assertEqual(cases, set(MISTAKES))

    def test_with_no_mistake_all_pass(self) -> None:
        for over in OVER:
            patterns = [
                pattern_of(case, over) for case, found in MISTAKES.items() for each in found if each.startswith(over)
            ]
            ran = run(over, "", ":".join(patterns))
            self.assertEqual(ran.returncode, 0, ran.stdout[-4000:] + ran.stderr[-1000:])
            self.assertRegex(ran.stdout, rf"\[  PASSED  \] {len(patterns)} tests")
            self.assertNotIn("SKIPPED", ran.stdout)

    def test_each_mistake_is_found(self) -> None:
        wanted = [(case, *each.split()) for case, found in MISTAKES.items() for each in found]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            ran = list(pool.map(lambda each: run(each[1], each[2], pattern_of(each[0], each[1])), wanted))
        for (case, over, mistake), one in zip(wanted, ran, strict=True):
            with self.subTest(case=case, over=over, mistake=mistake):
                self.assertNotEqual(one.returncode, 0, one.stdout[-4000:])
                # A mistake may end the process; it must have come as far as the case.
                self.assertIn(f"[ RUN      ] {pattern_of(case, over)}", one.stdout)
                if case.startswith("Task"):
                    self.assertTrue(
                        re.search(r"worst\(.*actual: inf|worst\(.*actual: \d", one.stdout), one.stdout[-2000:]
                    )


if __name__ == "__main__":
    unittest.main()
