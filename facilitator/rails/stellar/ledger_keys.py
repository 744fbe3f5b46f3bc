"""The keys of Stellar's ledger entries (LedgerKey of Stellar-ledger-entries.x)."""

from stellar_sdk import Address, Asset, Keypair, scval, xdr


def account_key(account: str) -> xdr.LedgerKey:
    """An account: its lumens and its sequence number."""
    named = Keypair.from_public_key(account).xdr_account_id()
    return xdr.LedgerKey(xdr.LedgerEntryType.ACCOUNT, account=xdr.LedgerKeyAccount(named))


def line_key(account: str, asset: Asset) -> xdr.LedgerKey:
    """A trust line: an account's balance of an asset."""
    line = xdr.LedgerKeyTrustLine(
        Keypair.from_public_key(account).xdr_account_id(), asset.to_trust_line_asset_xdr_object()
    )
    return xdr.LedgerKey(xdr.LedgerEntryType.TRUSTLINE, trust_line=line)


def instance_key(contract: str) -> xdr.LedgerKey:
    """A contract itself."""
    return _data(contract, xdr.SCVal(xdr.SCValType.SCV_LEDGER_KEY_CONTRACT_INSTANCE))


def balance_key(contract: str, owner: str) -> xdr.LedgerKey:
    """A contract's balance of an asset, in the asset's contract."""
    return _data(contract, scval.to_vec([scval.to_symbol("Balance"), scval.to_address(owner)]))


def nonce_key(address: str, nonce: int) -> xdr.LedgerKey:
    """A nonce that an address has used."""
    value = xdr.SCVal(xdr.SCValType.SCV_LEDGER_KEY_NONCE, nonce_key=xdr.SCNonceKey(xdr.Int64(nonce)))
    return _data(address, value, xdr.ContractDataDurability.TEMPORARY)


def _data(
    owner: str, key: xdr.SCVal, durability: xdr.ContractDataDurability = xdr.ContractDataDurability.PERSISTENT
) -> xdr.LedgerKey:
    data = xdr.LedgerKeyContractData(Address(owner).to_xdr_sc_address(), key, durability)
    return xdr.LedgerKey(xdr.LedgerEntryType.CONTRACT_DATA, contract_data=data)
