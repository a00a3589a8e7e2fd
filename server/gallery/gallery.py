"""The gallery of one server: scenarios and lessons, the scenarios' runs, the verdicts on their claims, and
thumbnails."""

from dataclasses import dataclass, field
from functools import cached_property

from server import PROJECT_FOLDER
from server.gallery.claims import ClaimService, ScenarioTraces
from server.gallery.course import Lesson, load_lessons
from server.gallery.error_match import ScenarioIndex
from server.gallery.scenarios import Scenario, load_scenarios
from server.gallery.thumbnails import Thumbnails, operation_examples, scenario_examples
from server.http.responses import ResponseBodyCache
from server.pictures.renderer_client import Renderer
from server.pool.interface import PoolInterface
from server.settings import Settings

SCENARIOS = PROJECT_FOLDER / "scenarios"
LESSONS = PROJECT_FOLDER / "lessons"


@dataclass
class Gallery:
    """The scenarios, lessons and pictures of one server.

    thumbnails: thumbnails of operations
    stills: stills of scenarios, for the gallery's cards
    pages: cached pages that are the same for everybody
    """

    scenarios: list[Scenario]
    lessons: list[Lesson]
    traces: ScenarioTraces
    claims: ClaimService
    thumbnails: Thumbnails
    stills: Thumbnails
    pages: ResponseBodyCache = field(default_factory=ResponseBodyCache)

    @property
    def scenarios_by_name(self) -> dict[str, Scenario]:
        return {scenario.name: scenario for scenario in self.scenarios}

    @cached_property
    def lookup(self) -> ScenarioIndex:
        """The index of all scenarios. Building it takes a fifth of a second, so get it in a thread."""
        return ScenarioIndex(self.scenarios)

    async def start_recording_first_scenario(self) -> None:
        """Run the scenario of the front page as soon as workers are ready."""
        for scenario in self.scenarios[:1]:
            await self.traces.start_recording(scenario)

    async def close(self) -> None:
        await self.traces.close()
        await self.thumbnails.close()
        await self.stills.close()


def create_gallery(settings: Settings, pool: PoolInterface, renderer: Renderer) -> Gallery:
    """Create the gallery. Raises ScenarioError if a scenario or a lesson can't be read."""
    scenarios = load_scenarios(SCENARIOS)
    traces = ScenarioTraces(pool, settings)
    return Gallery(
        scenarios=scenarios,
        lessons=load_lessons(LESSONS, {scenario.name for scenario in scenarios}),
        traces=traces,
        claims=ClaimService(traces),
        thumbnails=Thumbnails(pool, renderer, settings, operation_examples()),
        stills=Thumbnails(pool, renderer, settings, scenario_examples(scenarios)),
    )
