"""Each case of the list can fail: it is run over a backend with one mistake (broken.cpp), and over one with none."""

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
    "BackendArtifact.ForAnotherArchitectureIsRefused": ["cpu loads_anything"],
    "BackendArtifact.ThatIsCutShortIsRefused": ["cpu loads_anything"],
    "BackendArtifact.ThatIsNoneIsRefused": ["cpu loads_anything"],
    "BackendBuffer.CopiesWithinItselfAndFromAnother": ["cpu copies_nothing"],
    "BackendBuffer.HasAnAddressOfItsOwn": ["cpu has_one_address"],
    "BackendBuffer.HoldsWhatIsWrittenAndNothingMore": ["cpu loses_the_last_byte"],
    "BackendBuffer.IsMappedWhereItIsHostMemory": ["cpu maps_another_memory", "cuda maps_another_memory"],
    "BackendBuffer.IsNotMadeWhereItCannotBe": ["cpu makes_any_buffer"],
    "BackendBuffer.ReadsRowsSideBySide": ["cpu reads_rows_without_gaps"],
    "BackendBuffer.RefusesACopyOntoItself": ["cpu copies_onto_itself"],
    "BackendBuffer.RefusesWhatLiesBeyondIt": ["cpu refuses_nothing"],
    "BackendBuffer.StartsAsZeros": ["cpu gives_dirty_memory"],
    "BackendBuffer.TakesWorkOfNoBytes": ["cpu minds_no_bytes"],
    "BackendBuild.FailsAsTheMachinesFaultWhereThereIsNoCompiler": ["cpu errors_are_results"],
    "BackendBuild.GivesUpAfterItsSeconds": ["cpu never_times_out"],
    "BackendBuild.HasTheStandardHeadersOfNumbers": ["cpu has_no_headers"],
    "BackendBuild.MakesAnArtifactOfWhatIsRight": ["cpu makes_no_artifact"],
    "BackendBuild.OfDeviceCodeReadsNoFileOfTheMachine": ["cpu calls_host_code_its_own"],
    "BackendBuild.RefusesAnEntryThatNoSourceHas": ["cpu builds_any_entry"],
    "BackendBuild.RefusesRequestsThatAreWrong": ["cpu errors_are_results"],
    "BackendBuild.TellsAMistakeAtItsLine": ["cpu says_nothing"],
    "BackendBuild.TellsTheSameToolchainEachTime": ["cpu toolchain_wavers"],
    "BackendFacts.AreOfTheDeviceThatWasAskedFor": ["cpu opens_another_device"],
    "BackendFacts.AreThereAgainOnceADeviceIsOpenedAgain": ["cpu closes_for_all"],
    "BackendFacts.AreWhatAProbeFinds": ["cpu probes_nothing"],
    "BackendFacts.DescribeItTheSameEachTime": ["cpu describe_wavers"],
    "BackendFacts.FreeMemoryFallsWhereABufferIsMade": ["cuda forgets_memory"],
    "BackendFacts.MarksAreInOrderWhereThereAreAny": ["cuda runs_backwards"],
    "BackendFacts.NothingIsGivenBackForNull": ["cpu minds_null"],
    "BackendFacts.StayTheSameWhileItIsOpen": ["cpu facts_waver"],
    "BackendFacts.TellWhatTheDeviceIs": ["cpu another_architecture"],
    "BackendFault.LeavesTheDeviceToOtherProcesses": ["cpu spreads_faults"],
    "BackendFault.OfATrapIsTold": ["cpu runs_nothing", "cuda forgives"],
    "BackendFault.OfAnIllegalAddressIsTold": ["cpu runs_nothing", "cuda forgives"],
    "BackendLaunch.ComesAfterWhatWasAskedBeforeAndBeforeWhatIsAskedAfter": ["cpu launches_late"],
    "BackendLaunch.GivesArgumentsOfEachKind": ["cpu narrows_numbers"],
    "BackendLaunch.GivesAsManyArgumentsAsMayBe": ["cpu gives_fifteen_arguments"],
    "BackendLaunch.KnowsTheEntriesOfItsArtifact": ["cpu finds_any_entry"],
    "BackendLaunch.OfAShapeBeyondTheLimitsIsRefusedAndHarmsNothing": ["cuda starts_anything"],
    "BackendLaunch.OfTwoArtifactsRunsTheOneThatIsMeant": ["cpu knows_the_last_artifact"],
    "BackendLaunch.RefusesAnotherNumberOfArguments": ["cpu counts_no_arguments"],
    "BackendLaunch.RunsAnInstanceOfATemplateOnBlocksOfThreads": ["cuda runs_nothing"],
    "BackendLaunch.WorksOverTheBufferItIsGiven": ["cpu works_over_the_first_buffer"],
    "BackendSharing.ClosesPagesToAProcessWhereItCan": ["cpu guards_nothing"],
    "BackendSharing.ImportsNoMoreThanThereIs": ["cpu imports_too_much"],
    "BackendSharing.ImportsNothingThatIsNoArena": ["cpu imports_anything"],
    "BackendSharing.LetsNobodyResizeIt": ["cpu lets_resize"],
    "BackendSharing.OfADescriptorIsTheSameMemory": ["cpu imports_a_copy"],
    "BackendSharing.OutlivesTheFirstHolder": ["cpu clears_what_it_releases"],
    "BackendSharing.ReachesAnotherProcess": ["cpu imports_a_copy"],
    "TaskResults.AgreeWithTheProcessors": ["cpu loses_an_element", "cuda loses_an_element"],
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
