"""The eight endpoints, in the order of every listing."""

from jobs.chain import allowance, call, chain_id, erc20_balance, erc1155_balance, estimate_gas, nft_owner, storage
from shared.endpoint import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (
    chain_id.ENDPOINT,
    erc20_balance.ENDPOINT,
    allowance.ENDPOINT,
    nft_owner.ENDPOINT,
    erc1155_balance.ENDPOINT,
    estimate_gas.ENDPOINT,
    call.ENDPOINT,
    storage.ENDPOINT,
)
